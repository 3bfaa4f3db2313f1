// Where people reach the administration interface: what the file says, else where it listens.
import { urlOf } from '../core/url-of.ts'
import type { Config } from './load.ts'

/** `listening` is where the server listens, with the port it was given when it asked for any. */
export function adminUrlOf({ admin }: Pick<Config, 'admin'>, listening: string): string {
  if (admin.publicUrl !== undefined) return admin.publicUrl
  const url = new URL(admin.listen === 'same' ? listening : urlOf(admin.listen))
  // An address to listen on is none to go to when it means all of them.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  return url.origin
}
