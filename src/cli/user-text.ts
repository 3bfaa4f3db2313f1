// People and their links as text for a terminal.
import type { PersonAnswer, SentLink } from '../admin/contract/people.ts'
import { block, bold, moment, relativeTime, table } from './output.ts'

export function peopleTable(people: readonly PersonAnswer[], now: number): string {
  if (people.length === 0) {
    return 'There is nobody yet: `tollgate users create --email ADDRESS --role Administrator` adds the first one.'
  }
  return table(
    [
      { title: 'E-MAIL', of: ({ email }) => email },
      { title: 'NAME', of: ({ name }) => name || '-' },
      { title: 'ROLE', of: ({ role }) => role.name },
      { title: 'STATUS', of: ({ status }) => status },
      { title: 'CODES', of: ({ two_factor }) => (two_factor ? 'yes' : 'no') },
      { title: 'LAST SEEN', of: ({ last_seen_at }) => seen(last_seen_at, now) },
    ],
    people,
  )
}

export function personBlock(person: PersonAnswer, now: number): string {
  const pairs = [
    ['id', person.id],
    ['name', person.name || '-'],
    ['role', person.role.name],
    ['status', person.status],
    ['codes', person.two_factor ? 'yes' : 'no'],
    ['single sign-on', person.has_identity ? 'linked' : 'not linked'],
    ['added', moment(Date.parse(person.created_at), now)],
    ['last seen', seen(person.last_seen_at, now)],
  ] as const
  return `${bold(person.email)}\n${block(pairs)}`
}

export function linkText(person: PersonAnswer, { url, expires_at }: SentLink, now: number): string {
  const until = moment(Date.parse(expires_at), now)
  if (url === null)
    return `${personBlock(person, now)}\n\nA link was mailed; it works until ${until}.`
  return `${personBlock(person, now)}\n\nPass this link on. It works once, until ${until}:\n\n  ${url}`
}

function seen(at: string | null, now: number): string {
  return at === null ? 'never' : relativeTime(Date.parse(at), now)
}
