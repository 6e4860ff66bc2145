"""What connectors of AWS's services share: clients, their errors, and calls that take many entries at once."""
