// Puts the admin plane together from what the gateway has. Loaded on the first request to it, because a gateway that
// nobody looks at should start fast and stay small.
import type { Clock } from '../core/clock.ts'
import { smtpMailer, type SmtpSettings } from './mail.ts'
import { openPeople, type PeopleOptions } from './people/open.ts'
import { makeAdminServer, type AdminServer } from './server.ts'

export type AdminParts = Omit<PeopleOptions, 'mailer'> & {
  readonly clock: Clock
  readonly smtp: SmtpSettings | undefined
}

export function openAdmin(parts: AdminParts): Promise<AdminServer> {
  const mailer = parts.smtp && smtpMailer(parts.smtp)
  const { identity, handlers } = openPeople({ ...parts, mailer })
  return makeAdminServer({ ...parts, identity, handlers })
}
