//! What the run says about one assertion: verdicts, mismatches, statuses, outcomes, totals, events.
