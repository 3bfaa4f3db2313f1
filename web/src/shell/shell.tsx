// Around every page of a signed-in person: navigation, breadcrumb, preferences and account, and the page itself if the
// person may see it.
import { ActionIcon, Drawer, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useMatches } from '@tanstack/react-router'
import { signInRoutes } from '../../../src/admin/contract/sign-in.ts'
import { call } from '../base/api.ts'
import { leave, useSession } from '../base/session.ts'
import { useRoleName, useTranslation } from '../i18n/i18n.ts'
import { ForbiddenPage } from '../pages/errors.tsx'
import { ConfirmDialog } from '../parts/dialogs.tsx'
import { ChevronRightIcon, MenuIcon, PersonIcon } from '../parts/icons.tsx'
import { tabOnDemand } from '../parts/on-demand.tsx'
import { Preferences } from '../parts/preferences.tsx'
import { demandsOf, Navigation } from './navigation.tsx'
import styles from './shell.module.css'
import { Shortcuts } from './shortcuts.tsx'
import { SignInAgain } from './sign-in-again.tsx'

export function Shell() {
  const { t } = useTranslation()
  return (
    <div className={styles['shell']}>
      <SignInAgain />
      <Shortcuts />
      <a className={styles['skip']} href="#main">
        {t('nav.skip')}
      </a>
      <div className={styles['side']}>
        <Navigation head={<Brand />} />
      </div>
      <div className={styles['column']}>
        <header className={styles['bar']}>
          <NarrowNavigation />
          <div className={styles['grow']}>
            <Breadcrumb />
          </div>
          <Preferences />
          <AccountMenu />
        </header>
        <main id="main" className={styles['main']} tabIndex={-1}>
          <SecondFactorDue />
          <Permitted />
        </main>
      </div>
    </div>
  )
}

function Permitted() {
  const { may } = useSession()
  const missing = useMatches()
    .flatMap(({ staticData }) => demandsOf(staticData))
    .find(({ permission, where }) => !may(permission, where))?.permission
  return missing ? <ForbiddenPage permission={missing} /> : <Outlet />
}

// Most readers have it, or need none.
const DueNotice = tabOnDemand(
  async () => (await import('../pages/profile/due-notice.tsx')).DueNotice,
  null,
)

function SecondFactorDue() {
  const { person } = useSession()
  const dueAt = person?.second_factor_due_at ?? null
  return dueAt && <DueNotice dueAt={dueAt} />
}

function Brand() {
  return (
    <Link to="/" className={styles['brand']}>
      <img src="/mark.svg" alt="" />
      <span>Tollgate</span>
    </Link>
  )
}

/** On narrow screens the navigation opens from a button. */
function NarrowNavigation() {
  const { t } = useTranslation()
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <div className={styles['narrow']}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        onClick={open}
        aria-label={t('nav.open')}
        aria-expanded={isOpen}
      >
        <MenuIcon />
      </ActionIcon>
      <Brand />
      <Drawer
        opened={isOpen}
        onClose={close}
        size="17rem"
        title="Tollgate"
        closeButtonProps={{ 'aria-label': t('dialog.close') }}
      >
        <Navigation onChosen={close} />
      </Drawer>
    </div>
  )
}

function Breadcrumb() {
  const { t } = useTranslation()
  const crumbs = useMatches().flatMap((match) => {
    const { crumb } = match.staticData
    return crumb ? [{ id: match.id, path: match.pathname, crumb }] : []
  })
  return (
    <nav aria-label={t('nav.breadcrumb')}>
      <ol className={styles['crumbs']}>
        <li>
          <span>{t('nav.settings')}</span>
        </li>
        {crumbs.map(({ id, path, crumb: Crumb }, index) => (
          <li key={id}>
            <ChevronRightIcon size={12} />
            {index === crumbs.length - 1 ? (
              <span aria-current="page">
                <Crumb />
              </span>
            ) : (
              <Link to={path}>
                <Crumb />
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

function AccountMenu() {
  const { t } = useTranslation()
  const roleName = useRoleName()
  const { person } = useSession()
  const client = useQueryClient()
  const signOut = useMutation({
    mutationFn: () => leave(client, () => call(signInRoutes.signOut, {})),
  })
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('account.menu')}>
            <PersonIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {person?.name}
            <br />
            {person?.email} · {person && roleName(person.role)}
          </Menu.Label>
          <Menu.Item component={Link} to="/settings/profile">
            {t('account.profile')}
          </Menu.Item>
          <Menu.Item onClick={() => signOut.mutate()}>{t('account.signOut')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {signOut.error && (
        <ConfirmDialog
          title={t('account.stillSignedIn')}
          action={t('account.signOut')}
          effect={t('account.stillSignedInEffect')}
          change={signOut}
          onCancel={signOut.reset}
        />
      )}
    </>
  )
}
