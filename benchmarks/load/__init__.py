"""Load of the node beside a bare subscriber: processor time, losses, age of the estimate."""
