// The signals that ask a gateway to end.

/**
 * Calls `end` for each of them. SIGHUP counts only at a terminal, where it means that the terminal was closed;
 * elsewhere it asks for the configuration to be reloaded, which happens by itself.
 */
export function onEndSignal(end: () => void): void {
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('SIGHUP', () => {
    if (process.stdout.isTTY) end()
  })
}
