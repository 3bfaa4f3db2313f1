// The log for someone watching it at a terminal: without the requests that the web interface makes by itself, so that
// the first link and the calls of programs stay in sight. A log that is kept has every line.
import type { Log, LogFields } from './log.ts'

export function terminalLog(log: Log): Log {
  return {
    ...log,
    info: (event, fields) => {
      if (event !== 'request' || isNews(fields)) log.info(event, fields)
    },
  }
}

/** Calls of programs, changes, and whatever was refused. */
function isNews({ method, path, status }: LogFields = {}): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  return !isRead || Number(status) >= 400 || String(path).startsWith('/v1')
}
