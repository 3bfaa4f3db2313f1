// Everyone who may sign in: invite, change the role, help with a lost password or authenticator, sign out, block,
// remove.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { PersonAnswer, SentLink } from '../../../../src/admin/contract/people.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { PlusIcon } from '../../parts/icons.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { EditPersonDialog } from './edit-person-dialog.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { LinkDialog } from './link-dialog.tsx'
import { peopleQuery } from './people-queries.ts'
import { PersonActionDialog } from './person-action-dialog.tsx'
import type { PersonAction } from './person-action-dialog.tsx'
import { PersonTable } from './person-table.tsx'

type Open =
  | { readonly dialog: 'invite' }
  | { readonly dialog: 'edit'; readonly person: PersonAnswer }
  | { readonly dialog: 'link'; readonly person: PersonAnswer; readonly link: SentLink }
  | { readonly dialog: 'action'; readonly person: PersonAnswer; readonly action: PersonAction }

export function PeoplePage() {
  const { t } = useTranslation()
  const people = useQuery(peopleQuery)
  const [open, setOpen] = useState<Open>()
  return (
    <>
      <PageHeader
        title={t('nav.people')}
        about={
          <>
            {t('people.about')} <Link to="/settings/roles">{t('people.aboutRoles')}</Link>
          </>
        }
        actions={
          <Button leftSection={<PlusIcon />} onClick={() => setOpen({ dialog: 'invite' })}>
            {t('people.invite')}
          </Button>
        }
      />
      {people.error && !people.data ? (
        <ErrorAlert
          title={t('people.failed')}
          error={people.error}
          onRetry={() => void people.refetch()}
        />
      ) : (
        <PersonTable
          rows={people.data}
          onEdit={(person) => setOpen({ dialog: 'edit', person })}
          onAction={(person, action) => setOpen({ dialog: 'action', person, action })}
        />
      )}
      {open && <PeopleDialog open={open} onOpen={setOpen} />}
    </>
  )
}

type PeopleDialogProps = {
  readonly open: Open
  readonly onOpen: (open: Open | undefined) => void
}

function PeopleDialog({ open, onOpen }: PeopleDialogProps) {
  const close = () => onOpen(undefined)
  const showLink = (person: PersonAnswer, link: SentLink) =>
    onOpen({ dialog: 'link', person, link })
  switch (open.dialog) {
    case 'invite':
      return <InviteDialog onInvited={showLink} onClose={close} />
    case 'edit':
      return <EditPersonDialog person={open.person} onClose={close} />
    case 'link':
      return <LinkDialog person={open.person} link={open.link} onClose={close} />
    case 'action':
      return (
        <PersonActionDialog
          person={open.person}
          action={open.action}
          onLink={(link) => showLink(open.person, link)}
          onClose={close}
        />
      )
  }
}
