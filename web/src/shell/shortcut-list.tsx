// The list of keyboard shortcuts under "?", and the switch that turns them off.
import { Checkbox } from '@mantine/core'
import { useTranslation } from '../i18n/i18n.ts'
import { Dialog } from '../parts/dialogs.tsx'
import styles from './shortcut-list.module.css'

const listed = ['/', 'c', 'j', 'k', 'e', '?'] as const

type ShortcutListProps = {
  readonly areOn: boolean
  readonly onSwitch: (areOn: boolean) => void
  readonly onClose: () => void
}

export function ShortcutList({ areOn, onSwitch, onClose }: ShortcutListProps) {
  const { t } = useTranslation()
  return (
    <Dialog onClose={onClose} title={t('shortcuts.title')}>
      <table className={styles['keys']}>
        <tbody>
          {listed.map((key) => (
            <tr key={key}>
              <th scope="row">
                <kbd>{key}</kbd>
              </th>
              <td>{t(`shortcuts.key.${key}`)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Checkbox
        label={t('shortcuts.on')}
        checked={areOn}
        onChange={({ currentTarget }) => onSwitch(currentTarget.checked)}
      />
    </Dialog>
  )
}
