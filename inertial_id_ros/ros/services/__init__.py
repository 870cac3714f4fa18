"""What clients call: services and the action; the limits on them, and the files that they write."""
