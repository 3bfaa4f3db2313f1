// Confirms an action on a person's account, and says what it will do.
import { peopleRoutes } from '../../../../src/admin/contract/people.ts'
import type { PersonAnswer, SentLink } from '../../../../src/admin/contract/people.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { useChange } from '../../use-change.ts'
import { madeOldByPeople } from './people-queries.ts'

export type PersonAction =
  | 'invite'
  | 'password'
  | 'twoFactor'
  | 'unlink'
  | 'signOut'
  | 'block'
  | 'unblock'
  | 'remove'

export const isDangerous: Readonly<Record<PersonAction, boolean>> = {
  invite: false,
  password: false,
  twoFactor: true,
  unlink: true,
  signOut: true,
  block: true,
  unblock: false,
  remove: true,
}

type PersonActionDialogProps = {
  readonly person: PersonAnswer
  readonly action: PersonAction
  readonly onLink: (link: SentLink) => void
  readonly onClose: () => void
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
      isDangerous={isDangerous[action]}
      isPending={act.isPending}
      error={act.error}
      onConfirm={() => act.mutate()}
      onCancel={onClose}
    >
      <p>{t(`people.action.${action}.effect`)}</p>
    </ConfirmDialog>
  )
}

/** Returns the link to pass on, if the action creates one. */
async function run(action: PersonAction, id: string): Promise<SentLink | undefined> {
  const sent = { params: { id } }
  switch (action) {
    case 'invite':
      return call(peopleRoutes.inviteAgain, sent)
    case 'password':
      return call(peopleRoutes.resetPassword, sent)
    case 'twoFactor':
      await call(peopleRoutes.resetTwoFactor, sent)
      return undefined
    case 'unlink':
      await call(peopleRoutes.unlinkPerson, sent)
      return undefined
    case 'signOut':
      await call(peopleRoutes.signOutPerson, sent)
      return undefined
    case 'block':
      await call(peopleRoutes.blockPerson, sent)
      return undefined
    case 'unblock':
      await call(peopleRoutes.unblockPerson, sent)
      return undefined
    case 'remove':
      await call(peopleRoutes.removePerson, sent)
      return undefined
  }
}
