"""What only a wrist sensor needs: its stream, its bias, the corrections of its set-up."""
