// Addresses as people and clients write them.

/** http://HOST:PORT; an IPv6 address stands in brackets. */
export function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** For an address that others begin with: a slash at its end makes no difference. */
export function withoutEndSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
