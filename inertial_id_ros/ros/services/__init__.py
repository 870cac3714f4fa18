"""What clients ask of the node: services, the action, the files that they write."""
