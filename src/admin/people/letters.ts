// Mails with one-time links: short, in plain text, and without any text that a stranger chose.
import type { Mail } from '../mail.ts'
import type { MadeLink } from './links.ts'

export function mailFor({ kind, email, expiresAt }: MadeLink, url: string): Mail {
  const until = `${new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const { subject, text } = LETTERS[kind]
  return {
    to: email,
    subject,
    text: `${text}\n\n${url}\n\nThe link works once, until ${until}.\n`,
  }
}

const LETTERS = {
  invitation: {
    subject: 'You are invited to Tollgate',
    text: 'You may now sign in to Tollgate. Open this link to choose a password:',
  },
  reset: {
    subject: 'Choose a new password for Tollgate',
    text: 'An administrator has asked you to choose a new password for Tollgate. Open this link to do so:',
  },
} as const
