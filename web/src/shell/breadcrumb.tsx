// The path to this page, from the crumbs that the routes declare.
import { Link, useMatches } from '@tanstack/react-router'
import { useTranslation } from '../i18n/use-translation.ts'
import { ChevronRightIcon } from '../parts/icons.tsx'
import styles from './breadcrumb.module.css'

export function Breadcrumb() {
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
