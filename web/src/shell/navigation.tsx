// The main navigation. Entries whose pages the reader may not see are hidden; their addresses still answer, with the
// reason.
import { type AnyRoute, Link, type LinkProps, useLocation, useRouter } from '@tanstack/react-router'
import type { StaticDataRouteOption } from '@tanstack/react-router'
import type { ComponentType, ReactNode } from 'react'
import type { Permission } from '../../../src/admin/contract/permissions.ts'
import { type Session, useSession } from '../base/session.ts'
import { type TextKey, useTranslation } from '../i18n/i18n.ts'
import { OpenWishes } from '../pages/wishes/open-wishes.tsx'
import {
  ArchiveIcon,
  BellIcon,
  BookIcon,
  ChartIcon,
  CubeIcon,
  GaugeIcon,
  GroupIcon,
  HistoryIcon,
  KeyIcon,
  ListIcon,
  PeopleIcon,
  PersonIcon,
  PlayIcon,
  ShieldIcon,
} from '../parts/icons.tsx'
import styles from './navigation.module.css'

type Entry = {
  readonly to: Exclude<NonNullable<LinkProps['to']>, '.' | '..'>
  readonly label: TextKey
  readonly icon: ComponentType
  /** Beyond what its page demands. */
  readonly isFor?: (person: Present) => boolean
  /** How much there is to do. */
  readonly count?: ComponentType
}

type Present = NonNullable<Session['person']>

type Section = { readonly heading: TextKey; readonly entries: readonly Entry[] }

const sections: readonly Section[] = [
  {
    heading: 'nav.settings',
    entries: [
      { to: '/settings/api-access', label: 'nav.apiAccess', icon: KeyIcon },
      {
        to: '/settings/my-keys',
        label: 'nav.myKeys',
        icon: PersonIcon,
        isFor: ({ groups }) => groups.length > 0,
      },
      { to: '/settings/groups', label: 'nav.groups', icon: GroupIcon },
      { to: '/settings/api-access/frame', label: 'nav.frame', icon: GaugeIcon },
      { to: '/settings/models', label: 'nav.models', icon: CubeIcon },
      { to: '/settings/alerts', label: 'nav.alerts', icon: BellIcon },
      { to: '/settings/playground', label: 'nav.playground', icon: PlayIcon },
    ],
  },
  {
    heading: 'nav.insight',
    entries: [
      { to: '/settings/usage', label: 'nav.usage', icon: ChartIcon },
      { to: '/settings/requests', label: 'nav.requests', icon: ListIcon },
      { to: '/settings/audit', label: 'nav.audit', icon: HistoryIcon },
    ],
  },
  {
    heading: 'nav.team',
    entries: [
      { to: '/settings/people', label: 'nav.people', icon: PeopleIcon },
      {
        to: '/settings/wishes',
        label: 'nav.wishes',
        icon: ArchiveIcon,
        isFor: isDeciding,
        count: OpenWishes,
      },
      { to: '/settings/roles', label: 'nav.roles', icon: ShieldIcon },
      { to: '/settings/admin-api', label: 'nav.apiDocs', icon: BookIcon },
    ],
  },
]

type NavigationProps = {
  /** Within it, so that it is part of a landmark. */
  readonly head?: ReactNode
  readonly onChosen?: () => void
}

export function Navigation({ head, onChosen }: NavigationProps) {
  const { t } = useTranslation()
  const { may, person } = useSession()
  const { pathname } = useLocation()
  const { routesByPath } = useRouter()
  return (
    <nav className={styles['navigation']} aria-label={t('nav.label')}>
      {head}
      {sections.map(({ heading, entries }) => {
        const shown = entries.filter(
          ({ to, isFor = () => true }) =>
            allDemandsOf(routesByPath[to]).every(({ permission, where }) =>
              may(permission, where),
            ) &&
            person !== null &&
            isFor(person),
        )
        if (shown.length === 0) return null
        return (
          <div key={heading}>
            <p className={styles['heading']}>{t(heading)}</p>
            <ul className={styles['list']}>
              {shown.map(({ to, label, icon: Icon, count: Count }) => (
                <li key={to}>
                  <Link
                    to={to}
                    className={styles['link']}
                    activeOptions={{ exact: isWithin(pathname, to) }}
                    onClick={onChosen}
                  >
                    <Icon />
                    {t(label)}
                    {Count && <Count />}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        )
      })}
    </nav>
  )
}

/** Whoever manages keys, everywhere or within a group that has members. */
function isDeciding({ everywhere, groups }: Present): boolean {
  const held = [everywhere, ...groups.map(({ permissions }) => permissions)]
  return held.some((permissions) => permissions.includes('configuration:manage'))
}

type Demand = { readonly permission: Permission; readonly where: 'everywhere' | undefined }

/** What the router demands for a page: its own permissions, and those of the pages it is within. */
function allDemandsOf({ parentRoute, options }: AnyRoute): readonly Demand[] {
  const around = parentRoute ? allDemandsOf(parentRoute) : []
  return [...around, ...demandsOf(options.staticData ?? {})]
}

export function demandsOf({ permission = [], where }: StaticDataRouteOption): readonly Demand[] {
  return [permission].flat().map((each) => ({ permission: each, where }))
}

/** Whether an entry within this one leads here: then only that one is current. */
function isWithin(pathname: string, to: string): boolean {
  return sections
    .flatMap(({ entries }) => entries)
    .some((entry) => entry.to.startsWith(`${to}/`) && pathname.startsWith(entry.to))
}
