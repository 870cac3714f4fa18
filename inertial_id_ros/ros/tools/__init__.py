"""Programs beside the node: the demo, the simulated cobot, the player of recordings."""
