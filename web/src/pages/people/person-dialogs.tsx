// The dialogs about a person: invite, edit, act on the account, pass on a link.
import { Button, TextInput } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { peopleRoutes } from '../../../../src/admin/contract/people.ts'
import type { PersonAnswer, SentLink } from '../../../../src/admin/contract/people.ts'
import { PERSON_NAME_LENGTH_MAX } from '../../../../src/admin/contract/sign-in.ts'
import { differing } from '../../base/amounts.ts'
import { DAY_MS } from '../../../../src/core/units.ts'
import { call } from '../../base/api.ts'
import { sessionQuery, useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { useChange, useFields } from '../../parts/changes.tsx'
import { CopyBlock } from '../../parts/copy.tsx'
import { ConfirmDialog, Dialog, OnceDialog } from '../../parts/dialogs.tsx'
import { InvitationDialog, RoleSelect, useInvitation } from '../../parts/form/invite-fields.tsx'
import { Notice } from '../../parts/notices.tsx'
import { madeOldByKey } from '../keys/key-words.ts'
import { LeavingFields, useLeaving } from './leaving-fields.tsx'

type InviteDialogProps = {
  readonly onInvited: (person: PersonAnswer, link: SentLink) => void
  readonly onClose: () => void
}

export function InviteDialog({ onInvited, onClose }: InviteDialogProps) {
  const { t } = useTranslation()
  const invitation = useInvitation('viewer')
  const invite = useChange(madeOldByPeople, {
    change: () => call(peopleRoutes.invitePerson, { body: invitation.sent }),
    onAnswer: ({ person, link }) => onInvited(person, link),
  })
  return (
    <InvitationDialog
      title={t('people.inviteTitle')}
      invitation={invitation}
      change={invite}
      onCancel={onClose}
    />
  )
}

type PersonDialogProps = { readonly person: PersonAnswer; readonly onClose: () => void }

export function EditPersonDialog({ person, onClose }: PersonDialogProps) {
  const { t } = useTranslation()
  const before = { name: person.name, email: person.email, role: person.role.id }
  const { values, text } = useFields(before)
  const { name, role } = values
  const email = values.email.trim()
  const { person: self } = useSession()
  const isWhole = name.trim() !== '' && email !== ''
  const change = differing(before, { name, email, role })
  const save = useChange([...madeOldByPeople, sessionQuery.queryKey], {
    change: () => call(peopleRoutes.changePerson, { params: { id: person.id }, body: change }),
    said: () => t('people.saved', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('people.editTitle', { name: person.email })}
      action={t('keyForm.save')}
      isReady={isWhole && Object.keys(change).length > 0}
      change={save}
      placed={['name', 'email', 'role']}
      onCancel={onClose}
    >
      <TextInput
        label={t('people.name')}
        required
        data-autofocus
        maxLength={PERSON_NAME_LENGTH_MAX}
        {...text('name', save.error)}
      />
      <TextInput
        label={t('signIn.email')}
        description={person.id === self?.id ? t('people.ownEmail') : undefined}
        type="email"
        required
        disabled={person.id === self?.id}
        autoComplete="off"
        {...text('email', save.error)}
      />
      {email !== person.email && <Notice tone="warn">{t('people.emailEffect')}</Notice>}
      <RoleSelect {...text('role', save.error)} />
    </ConfirmDialog>
  )
}

const actions = {
  invite: { route: peopleRoutes.inviteAgain, isDangerous: false },
  password: { route: peopleRoutes.resetPassword, isDangerous: false },
  twoFactor: { route: peopleRoutes.resetTwoFactor, isDangerous: true },
  unlink: { route: peopleRoutes.unlinkPerson, isDangerous: true },
  signOut: { route: peopleRoutes.signOutPerson, isDangerous: true },
  block: { route: peopleRoutes.blockPerson, isDangerous: true },
  unblock: { route: peopleRoutes.unblockPerson, isDangerous: false },
} as const

/** Removing somebody has a dialog of its own. */
export type PersonAction = keyof typeof actions

export const isDangerous = (action: PersonAction): boolean => actions[action].isDangerous

type PersonActionDialogProps = PersonDialogProps & {
  readonly action: PersonAction
  readonly onLink: (link: SentLink) => void
}

export function PersonActionDialog(props: PersonActionDialogProps) {
  const { person, action, onLink, onClose } = props
  const { t } = useTranslation()
  const name = person.name || person.email
  const act = useChange(madeOldByPeople, {
    change: () => run(action, person.id),
    said: () => t(`people.action.${action}.done`, { name }),
    onAnswer: (link) => link && onLink(link),
    onDone: (link) => {
      if (!link) onClose()
    },
  })
  return (
    <ConfirmDialog
      title={t(`people.action.${action}.title`, { name })}
      action={t(`people.action.${action}.label`)}
      effect={t(`people.action.${action}.effect`)}
      isDangerous={isDangerous(action)}
      change={act}
      onCancel={onClose}
    />
  )
}

/** What becomes of their keys is decided first. */
export function RemovePersonDialog({ person, onClose }: PersonDialogProps) {
  const { t } = useTranslation()
  const name = person.name || person.email
  const { data: people = [] } = useQuery(peopleQuery)
  const leaving = useLeaving({ personId: person.id })
  const { keys, to } = leaving.sent
  const remove = useChange([...madeOldByPeople, ...madeOldByKey], {
    change: () =>
      call(peopleRoutes.removePerson, {
        params: { id: person.id },
        query: { keys: keys === 'take' ? undefined : keys, to },
      }),
    said: () => t('people.action.remove.done', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('people.action.remove.title', { name })}
      action={t('people.action.remove.label')}
      effect={t('people.action.remove.effect')}
      isDangerous
      isReady={leaving.isReady}
      change={remove}
      onCancel={onClose}
    >
      <LeavingFields leaving={leaving} others={people.filter(({ id }) => id !== person.id)} />
    </ConfirmDialog>
  )
}

/** Returns the link to pass on, if the action creates one. */
async function run(action: PersonAction, id: string): Promise<SentLink | undefined> {
  const answer = await call(actions[action].route, { params: { id } })
  return 'url' in answer ? answer : undefined
}

type LinkDialogProps = {
  readonly person: Pick<PersonAnswer, 'name' | 'email'>
  readonly link: SentLink
  readonly onClose: () => void
}

/** A one-time link: says that it was mailed, or shows it once to pass on, to those who may see it. */
export function LinkDialog(props: LinkDialogProps) {
  const { person, link, onClose } = props
  const { t, format } = useTranslation()
  const title = t('people.linkTitle', { name: person.name || person.email })
  const expiry = (
    <p className="muted">{t('people.linkExpires', { moment: format.dateTime(link.expires_at) })}</p>
  )
  const { url } = link
  if (url === null)
    return (
      <Dialog
        title={title}
        onClose={onClose}
        buttons={<Button onClick={onClose}>{t('secret.done')}</Button>}
      >
        {link.mailed ? (
          <>
            <Notice tone="good">{t('people.linkMailed', { email: person.email })}</Notice>
            {expiry}
          </>
        ) : (
          <Notice tone="warn">{t('people.linkUnseen', { email: person.email })}</Notice>
        )}
      </Dialog>
    )
  return (
    <OnceDialog title={title} loss={t('once.link')} onClose={onClose}>
      {(onCopied) => (
        <>
          <Notice tone="warn" title={t('people.linkOnce')}>
            {t('people.linkPassOn', { email: person.email })}
          </Notice>
          <CopyBlock label={t('people.link')} text={url} onCopied={onCopied} />
          {expiry}
        </>
      )}
    </OnceDialog>
  )
}

/** As the gateway counts it: whoever never came is not inactive. */
function lastSeen({ status, last_seen_at: at, created_at: created }: PersonAnswer): number {
  return status === 'active' ? Date.parse(at ?? created) : Infinity
}

export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: async ({ signal }) => {
    const { people, inactive_days: days } = await call(peopleRoutes.listPeople, { signal })
    const since = days === null ? -Infinity : Date.now() - days * DAY_MS
    return people.map((person) => ({ ...person, isInactive: lastSeen(person) < since }))
  },
})

/** Queries that a change of people or roles makes stale. */
export const madeOldByPeople = [['people'], ['roles'], ['audit']] as const
