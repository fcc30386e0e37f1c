"""Storm's acker."""
