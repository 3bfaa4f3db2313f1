// `tollgate users …`: manages the people who administer this gateway, by the same rules as the web interface, whether a
// server is running or not. Whoever can run it is the operator of the machine and holds every right.
import { text as readAll } from 'node:stream/consumers'
import { Option, type Command } from 'commander'
import { invalidValue } from '../admin/contract/errors.ts'
import type { PersonAnswer, SentLink, SignOnTrial } from '../admin/contract/people.ts'
import { PERSON_NAME_LENGTH_MAX, personName } from '../admin/contract/sign-in.ts'
import { inviteMember } from '../admin/groups/members.ts'
import { hashPassword, passwordProblem } from '../admin/people/credentials.ts'
import { smtpMailer } from '../admin/people/email.ts'
import { invitePerson, makePersonLink, sendLink, type Invitation } from '../admin/people/links.ts'
import {
  addPerson,
  answerPeople,
  answerPerson,
  blockPerson,
  changePerson,
  removePerson,
  resetTwoFactor,
  signOutPerson,
  unblockPerson,
  unlinkPerson,
} from '../admin/people/people.ts'
import { operatorOf } from '../admin/people/roles.ts'
import { trySignOn } from '../admin/people/sign-on-groups.ts'
import { adminUrlOf, type Config } from '../config/load.ts'
import { parseObject, type JsonObject } from '../core/json.ts'
import { urlOf } from '../core/text.ts'
import type { Store } from '../store/database/store.ts'
import { findGroup } from '../store/groups/groups.ts'
import {
  common,
  lookAtStore,
  readConfig,
  readDatabaseConfig,
  type CommonOptions,
  withStore,
  withStoreOrNew,
} from './command/context.ts'
import { demand, examples, group, leavingOptions, type LeavingOptions } from './command/options.ts'
import { argument } from './terminal/failure.ts'
import {
  block,
  bold,
  moment,
  printJson,
  printNote,
  printText,
  printWarning,
  relativeTime,
  table,
} from './terminal/output.ts'

const PERSON = ['<PERSON>', 'e-mail address or id'] as const

export function addUsers(program: Command): void {
  const users = group(
    program,
    'users',
    'Invite, list, block and change the people who administer this gateway.\n' +
      'PERSON is an e-mail address or an id, ROLE the name of a role (Administrator, Manager, Viewer or one of your own).',
  )
  addList(users)
  addCreate(users)
  addInvite(users)
  addResetPassword(users)
  addChanges(users)
  addSimple(users)
  addRemove(users)
  addTrySignOn(users)
}

function addList(users: Command): void {
  common(users.command('list'))
    .description('List everyone who may sign in, with role and status.')
    .action((options: CommonOptions) =>
      lookAtStore(readDatabaseConfig(options), async (store) => {
        const people = await answerPeople(store.db)
        if (options.json) printJson({ users: people })
        else printText(peopleTable(people, store.clock.now()))
      }),
    )
}

type NewOptions = CommonOptions & {
  readonly email: string
  readonly role: string
  readonly name?: string
  readonly passwordStdin?: true
}

function newPersonOptions(command: Command): Command {
  const required = [
    new Option('--email <address>', 'what they sign in with'),
    new Option('--role <role>', 'what they may do'),
  ]
  const name = 'their name; without it, they enter it themselves'
  return demand(common(command), required).option('--name <name>', name, argument(readPersonName))
}

function readPersonName(text: string): string {
  const { data } = personName.safeParse(text)
  if (data !== undefined) return data
  throw new RangeError(`Use a name of 1 to ${PERSON_NAME_LENGTH_MAX} characters.`)
}

function addCreate(users: Command): void {
  newPersonOptions(users.command('create'))
    .description('Add a person and print a one-time link for choosing a password. No mail is sent.')
    .option('--password-stdin', 'read the password from standard input instead of printing a link')
    .addHelpText(
      ...examples(
        'tollgate users create --email ann@example.com --role Administrator',
        'tollgate users create --email bob@example.com --role Viewer --password-stdin < password.txt',
      ),
    )
    .action(async (options: NewOptions) => {
      const config = readConfig(options)
      const passwordHash = options.passwordStdin && (await readPassword(options.email))
      await withStoreOrNew(config, async (store) => {
        const actor = operatorOf(store)
        if (passwordHash === undefined) {
          await printLink(store, { config, options, ...(await invitePerson(actor, options)) })
        } else printPerson(store, await addPerson(actor, { ...options, passwordHash }), options)
      })
    })
}

function addInvite(users: Command): void {
  newPersonOptions(users.command('invite'))
    .description('Invite a person by mail (`admin.smtp`); if no mail can be sent, print the link.')
    .option('--group <group>', 'give them the role within this group alone: its name or id')
    .addHelpText(
      ...examples(
        'tollgate users invite --email bob@example.com --role Manager --name Bob',
        'tollgate users invite --email eve@example.com --role Member --group search',
      ),
    )
    .action(async (options: NewOptions & { readonly group?: string }) => {
      const config = readConfig(options)
      await withStoreOrNew(config, async (store) => {
        const actor = operatorOf(store)
        const invitation =
          options.group === undefined
            ? await invitePerson(actor, options)
            : await inviteMember(actor, await findGroup(store, options.group), options)
        if (invitation !== null) {
          await printLink(store, { config, options, ...invitation, mayMail: true })
        } else {
          printPerson(store, await answerPerson(store.db, options.email), options)
          printNote('they can sign in already, and are a member of the group now')
        }
      })
    })
}

function addResetPassword(users: Command): void {
  common(users.command('reset-password'))
    .description('Print a one-time link for choosing a new password.')
    .argument(...PERSON)
    .action(async (who: string, options: CommonOptions) => {
      const config = readConfig(options)
      await withStore(config, async (store) => {
        const person = await answerPerson(store.db, who)
        const kind = person.status === 'invited' ? 'invitation' : 'reset'
        const link = await makePersonLink(operatorOf(store), person.id, kind)
        await printLink(store, { config, options, person, link })
      })
    })
}

/** The commands that change one field of a person. */
function addChanges(users: Command): void {
  const changes = [
    ['role', 'Give a person another role.', '<ROLE>', 'name or id of a role'],
    [
      'email',
      'Change the e-mail address a person signs in with. Their sessions end. Giving the address they already have confirms one that they chose themselves, for single sign-on.',
      '<ADDRESS>',
      'the new e-mail address',
    ],
  ] as const
  for (const [field, description, name, about] of changes) {
    common(users.command(field))
      .description(description)
      .argument(...PERSON)
      .argument(name, about)
      .action((who: string, value: string, options: CommonOptions) =>
        withStore(readDatabaseConfig(options), async (store) => {
          const change = { [field]: value }
          printPerson(store, await changePerson(operatorOf(store), who, change), options)
        }),
      )
  }
}

/** The commands that need only a person. */
function addSimple(users: Command): void {
  const simple = [
    ['block', 'Lock a person out at once, until unblocked.', blockPerson],
    ['unblock', 'Let a blocked person in again.', unblockPerson],
    ['sign-out', 'End all sessions and personal access tokens of a person.', signOutPerson],
    [
      'unlink',
      'Unlink a person from their identity at the single sign-on provider, whose address somebody else may have now. Their sessions and personal access tokens end; the next sign-on by their address links them again.',
      unlinkPerson,
    ],
    ['reset-two-factor', 'Let a person sign in without codes from an app.', resetTwoFactor],
  ] as const
  for (const [command, description, work] of simple) {
    common(users.command(command))
      .description(description)
      .argument(...PERSON)
      .action((who: string, options: CommonOptions) =>
        withStore(readDatabaseConfig(options), async (store) => {
          printPerson(store, await work(operatorOf(store), who), options)
        }),
      )
  }
}

function addRemove(users: Command): void {
  leavingOptions(common(users.command('remove')))
    .description(
      'Remove a person for good, once it is decided what becomes of their keys. What they did stays on record.',
    )
    .argument(...PERSON)
    .action((who: string, options: CommonOptions & LeavingOptions) =>
      withStore(readDatabaseConfig(options), async (store) => {
        const person = await answerPerson(store.db, who)
        await removePerson(operatorOf(store), person.id, options)
        if (options.json) printJson(person)
        else printText(`Removed ${person.email}.`)
      }),
    )
}

function addTrySignOn(users: Command): void {
  common(users.command('try-sign-on'))
    .description(
      'Show what claims of the single sign-on provider would give somebody (`people.single_sign_on.groups`). Changes nothing.',
    )
    .argument('<CLAIMS>', 'as JSON', argument(readClaims))
    .addHelpText(...examples(`tollgate users try-sign-on '{"groups": ["eng-search"]}'`))
    .action((claims: JsonObject, options: CommonOptions) => {
      const config = readConfig(options)
      return lookAtStore(config, async (store) => {
        const given = await trySignOn(store, config.people.signOnGroups, claims)
        if (options.json) printJson(given)
        else printText(signOnWords(given))
      })
    })
}

function readClaims(text: string): JsonObject {
  const claims = parseObject(text)
  if (claims !== undefined) return claims
  throw new RangeError('Write a JSON object, such as {"groups": ["eng-search"]}.')
}

function signOnWords({ admitted, role, groups, unmatched, unknown }: SignOnTrial): string {
  return [
    admitted ? 'They come without an invitation.' : 'They come only if they are invited.',
    `Everywhere: ${role?.name ?? '-'}`,
    ...groups.map((each) => `In ${each.group.name}: ${each.role.name}`),
    ...(unmatched.length === 0 ? [] : [`These give nothing: ${unmatched.join(', ')}`]),
    ...(unknown.length === 0 ? [] : [`These do not exist: ${unknown.join(', ')}`]),
  ].join('\n')
}

type Linked = Invitation & {
  readonly config: Config
  readonly options: CommonOptions
  readonly mayMail?: true
}

async function printLink(store: Store, linked: Linked): Promise<void> {
  const { config, options, person, mayMail } = linked
  const { smtp, publicUrl } = config.admin
  const base = adminUrlOf(config, urlOf(config.server))
  const link = await sendLink(linked.link, {
    base,
    mailer: mayMail && smtp && smtpMailer(smtp),
    onMailFailed: (thrown) => printWarning(`the mail was not sent: ${String(thrown)}`),
  })
  if (options.json) printJson({ ...person, link })
  else printText(linkText(person, link, store.clock.now()))
  // The options of a running server's own command line are not known here.
  if (publicUrl === undefined) {
    printNote(
      `the link begins with ${base}, where the configuration has the server listen: set admin.public_url if people reach it elsewhere`,
    )
  }
}

function printPerson(store: Store, person: PersonAnswer, { json }: CommonOptions): void {
  if (json) printJson(person)
  else printText(personBlock(person, store.clock.now()))
}

async function readPassword(email: string): Promise<string> {
  const password = (await readAll(process.stdin)).replace(/\r?\n$/, '')
  const problem = passwordProblem(password, email)
  if (problem !== undefined) throw invalidValue('password', problem)
  return hashPassword(password)
}

function peopleTable(people: readonly PersonAnswer[], now: number): string {
  if (people.length === 0) {
    return 'There is nobody yet: `tollgate users create --email ADDRESS --role Administrator` adds the first one.'
  }
  return table(people, [
    ['E-MAIL', ({ email }) => email],
    ['NAME', ({ name }) => name || '-'],
    ['ROLE', ({ role }) => role.name],
    ['STATUS', ({ status }) => status],
    ['CODES', ({ two_factor }) => (two_factor ? 'yes' : 'no')],
    ['LAST SEEN', ({ last_seen_at }) => seen(last_seen_at, now)],
  ])
}

function personBlock(person: PersonAnswer, now: number): string {
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

function linkText(person: PersonAnswer, { url, expires_at }: SentLink, now: number): string {
  const until = moment(Date.parse(expires_at), now)
  if (url === null)
    return `${personBlock(person, now)}\n\nA link was mailed; it works until ${until}.`
  return `${personBlock(person, now)}\n\nPass this link on. It works once, until ${until}:\n\n  ${url}`
}

function seen(at: string | null, now: number): string {
  return at === null ? 'never' : relativeTime(Date.parse(at), now)
}
