// Requests as sent over the wire, the same for every contender.

export type HttpRequest = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function httpText({ path, headers, body }: HttpRequest): string {
  const lines = Object.entries({
    host: 'bench',
    'content-type': 'application/json',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
