// The signals that ask a gateway to end.

/**
 * Calls `end` for each of them. SIGHUP is one where a terminal was closed; elsewhere it asks for the configuration to be
 * read again, which happens by itself.
 */
export function onEndSignal(end: () => void): void {
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('SIGHUP', () => {
    if (process.stdout.isTTY) end()
  })
}
