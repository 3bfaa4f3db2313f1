// A section of the profile page: heading, description, actions and content.
import type { ReactNode } from 'react'
import styles from './profile.module.css'

type CardProps = {
  readonly title: string
  readonly about?: ReactNode
  readonly actions?: ReactNode
  readonly children?: ReactNode
  /** No border: the content is a table, which has its own. */
  readonly isBare?: boolean
}

export function Card({ title, about, actions, children, isBare = false }: CardProps) {
  return (
    <section className={isBare ? styles['bare'] : 'card'}>
      <div className={styles['head']}>
        <div>
          <h2 className={styles['heading']}>{title}</h2>
          {about && <p className={styles['about']}>{about}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  )
}
