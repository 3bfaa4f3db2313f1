// Where people reach the administration interface: what the file says, else where it listens.
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
