// How many wishes wait for a decision, beside the entry of the navigation.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../i18n/i18n.ts'
import { openWishesQuery } from './wish-words.ts'
import styles from './wishes.module.css'

export function OpenWishes() {
  const { t, format } = useTranslation()
  const { data } = useQuery(openWishesQuery)
  if (!data || data.open === 0) return null
  return (
    <span className={styles['count']}>
      {format.number(data.open)}
      <span className="visually-hidden"> {t('wishes.state.open')}</span>
    </span>
  )
}
