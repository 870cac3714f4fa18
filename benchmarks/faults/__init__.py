"""What goes wrong beside a real driver: every fault alone and in pairs, and an hour of them."""
