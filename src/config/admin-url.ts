// Where people reach the administration interface: what the file says, else where it listens; and whether other
// machines can.
import { urlOf } from '../core/url-of.ts'
import type { Config } from './load.ts'

/** `listening` is where the server listens, with the port that the system chose if 0 was requested. */
export function adminUrlOf({ admin }: Pick<Config, 'admin'>, listening: string): string {
  if (admin.publicUrl !== undefined) return admin.publicUrl
  const url = new URL(admin.listen === 'same' ? listening : urlOf(admin.listen))
  // An address that means all interfaces can be listened on, but not visited.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  return url.origin
}

/** Whether only this machine reaches it, where a password crosses no network. */
export function isAdminLocal({ admin, server }: Pick<Config, 'admin' | 'server'>): boolean {
  const listening = urlOf(admin.listen === 'same' ? server : admin.listen)
  return [listening, admin.publicUrl ?? listening].every(isLoopback)
}

function isLoopback(url: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
}
