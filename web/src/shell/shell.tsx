// The frame around every page of a signed-in person: navigation, breadcrumb and preferences, and the page itself if the
// person may see it.
import { ActionIcon, Drawer } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Outlet, useMatches } from '@tanstack/react-router'
import { useTranslation } from '../i18n/use-translation.ts'
import { ForbiddenPage } from '../pages/forbidden.tsx'
import { MenuIcon } from '../parts/icons.tsx'
import { useSession } from '../session.ts'
import { AccountMenu } from './account-menu.tsx'
import { Breadcrumb } from './breadcrumb.tsx'
import { Navigation } from './navigation.tsx'
import { Preferences } from './preferences.tsx'
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
        <Brand />
        <Navigation />
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
          <Permitted />
        </main>
      </div>
    </div>
  )
}

function Permitted() {
  const { may } = useSession()
  const missing = useMatches()
    .map((match) => match.staticData.permission)
    .find((permission) => permission && !may(permission))
  return missing ? <ForbiddenPage permission={missing} /> : <Outlet />
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
