// The header of a page: its title (also the document's), a sentence about it, its actions. The title takes the focus
// when the view changes, so that a screen reader announces the new page. And the tabs of a page, where they scroll.
import { useDocumentTitle } from '@mantine/hooks'
import type { AnyRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import styles from './page-header.module.css'

type PageHeaderProps = {
  readonly title: string
  /** Shown beside the title, such as a badge. */
  readonly beside?: ReactNode
  readonly about?: ReactNode
  readonly actions?: ReactNode
  /** Shown below the header, across the full width. */
  readonly below?: ReactNode
}

/** Titles at least this long are set smaller: a name may be as long as a paragraph. */
const longTitle = 60

export function PageHeader({ title, beside, about, actions, below }: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useDocumentTitle(`${title} · Tollgate`)
  useEffect(() => {
    if (hasMoved) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <header className={styles['header']}>
      <div className={styles['words']}>
        <h1 ref={heading} tabIndex={-1} data-long={title.length > longTitle}>
          {title} {beside && <span className={styles['beside']}>{beside}</span>}
        </h1>
        {about && <div className={styles['about']}>{about}</div>}
      </div>
      {actions && <div className={styles['actions']}>{actions}</div>}
      {below && <div className={styles['below']}>{below}</div>}
    </header>
  )
}

/** Not on the first view: there the focus belongs where the browser puts it, before the skip link. */
let hasMoved = false

export function watchArrivals(router: AnyRouter): void {
  router.subscribe('onBeforeNavigate', ({ fromLocation, pathChanged }) => {
    if (fromLocation && pathChanged) hasMoved = true
  })
}

/** The ref of the open tab: on a narrow screen its row scrolls, and shows it in the middle. */
export function inSight(tab: HTMLElement | null): void {
  const row = tab?.parentElement
  if (!tab || !row) return
  const [of, within] = [tab.getBoundingClientRect(), row.getBoundingClientRect()]
  row.scrollLeft += of.left + of.width / 2 - (within.left + within.width / 2)
}
