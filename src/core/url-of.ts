// The address of a listener as people and clients write it.

/** http://HOST:PORT; an IPv6 address stands in brackets. */
export function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
