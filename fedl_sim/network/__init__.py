"""Network realisations: who holds what, who is linked to whom, what each device can do."""
