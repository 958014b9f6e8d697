"""What tests share; a test module never imports another."""
