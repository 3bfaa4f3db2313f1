// Puts the admin plane together from what the gateway has. Loaded on the first request to it, because a gateway that
// nobody looks at should start fast and stay small.
import type { Handlers } from './call.ts'
import { adminHandlers } from './handlers.ts'
import { smtpMailer, type SmtpSettings } from './mail.ts'
import type { AdminParts } from './parts.ts'
import { openPeople, type PeopleOptions } from './people/open.ts'
import { makeAdminServer, type AdminServer } from './server.ts'

export type AdminOptions = Omit<AdminParts & PeopleOptions, 'mailer'> & {
  readonly smtp: SmtpSettings | undefined
}

export function openAdmin(options: AdminOptions): Promise<AdminServer> {
  const parts = { ...options, mailer: options.smtp && smtpMailer(options.smtp) }
  const { identity, handlers } = openPeople(parts)
  const all = { ...adminHandlers(parts), ...handlers } satisfies Partial<Handlers>
  return makeAdminServer({ ...parts, identity, handlers: all })
}
