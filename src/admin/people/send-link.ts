// Gets a one-time link to its owner: by mail if that is configured and works; else the person who made it passes it on.
import { iso } from '../../core/units.ts'
import type { SentLink } from '../contract/people.ts'
import type { Mailer } from '../mail.ts'
import { mailFor } from './letters.ts'
import { linkUrl, type MadeLink } from './links.ts'

type Sending = {
  /** The base URL of the link. */
  readonly base: string
  readonly mailer: Mailer | undefined
  readonly onMailFailed: (thrown: unknown) => void
}

export async function sendLink(link: MadeLink, sending: Sending): Promise<SentLink> {
  const { base, mailer, onMailFailed } = sending
  const url = linkUrl(link, base)
  const expires_at = iso(link.expiresAt)
  if (mailer === undefined) return { mailed: false, url, expires_at }
  try {
    await mailer.send(mailFor(link, url))
    return { mailed: true, url: null, expires_at }
  } catch (thrown) {
    onMailFailed(thrown)
    return { mailed: false, url, expires_at }
  }
}
