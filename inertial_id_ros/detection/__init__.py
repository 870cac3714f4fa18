"""What the model cannot explain: contact, changes of payload or zero, a wrong set-up."""
