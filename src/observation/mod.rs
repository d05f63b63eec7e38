//! What happened, as plain data: calls, results, errors, notifications, server requests, files, exit,
//! stderr tail, timings, wire and protocol findings. Knows nothing of what was wanted.
