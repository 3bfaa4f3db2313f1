// The actions on a key: only those that its state allows and the reader may take.
import { Menu } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ActionMenu } from '../../parts/action-menu.tsx'
import { copyText } from '../../parts/copy.ts'
import { showToast } from '../../parts/toasts.tsx'
import { useSession } from '../../session.ts'
import type { KeyAction } from './key-in-brief.ts'
import { useResume } from './key-in-brief.ts'
import type { KeyInBrief } from './key-in-brief.ts'

type KeyMenuProps = {
  readonly keyInBrief: KeyInBrief
  readonly onAction: (action: KeyAction) => void
  /** On the key's own page some actions are beside the menu instead. */
  readonly isOnOwnPage?: boolean
}

export function KeyMenu({ keyInBrief, onAction, isOnOwnPage = false }: KeyMenuProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const { id, name } = keyInBrief
  const copyId = async () => {
    const copied = await copyText(id)
    showToast(copied ? t('copy.copied') : id)
  }
  return (
    <ActionMenu name={name}>
      {!isOnOwnPage && (
        <Menu.Item component={Link} to={`/settings/api-access/${id}`}>
          {t('action.open')}
        </Menu.Item>
      )}
      <Menu.Item onClick={() => void copyId()}>{t('action.copyId')}</Menu.Item>
      {may('configuration:manage') && (
        <ManagerItems keyInBrief={keyInBrief} onAction={onAction} isOnOwnPage={isOnOwnPage} />
      )}
    </ActionMenu>
  )
}

function ManagerItems({ keyInBrief, onAction, isOnOwnPage }: KeyMenuProps) {
  const { t } = useTranslation()
  const resume = useResume()
  const { id, status, limit } = keyInBrief
  const isLive = status !== 'revoked'
  return (
    <>
      <Menu.Item component={Link} to={`/settings/api-access/new?from=${id}`}>
        {t('action.duplicate')}
      </Menu.Item>
      {isLive && !isOnOwnPage && (
        <>
          <Menu.Item component={Link} to={`/settings/api-access/${id}/edit`}>
            {t('action.edit')}
          </Menu.Item>
          <Menu.Item onClick={() => onAction('test')}>{t('action.test')}</Menu.Item>
          <Menu.Item onClick={() => onAction('rotate')}>{t('action.rotate')}</Menu.Item>
        </>
      )}
      {isLive && limit !== null && (
        <Menu.Item onClick={() => onAction('top-up')}>{t('action.topUp')}</Menu.Item>
      )}
      {isLive && <Menu.Item onClick={() => onAction('reset')}>{t('action.reset')}</Menu.Item>}
      {status === 'paused' && (
        <Menu.Item onClick={() => resume.mutate({ id })}>{t('action.resume')}</Menu.Item>
      )}
      {status === 'active' && (
        <Menu.Item onClick={() => onAction('pause')}>{t('action.pause')}</Menu.Item>
      )}
      {isLive && (
        <>
          <Menu.Divider />
          <Menu.Item c="var(--tg-bad)" onClick={() => onAction('revoke')}>
            {t('action.revoke')}
          </Menu.Item>
        </>
      )}
    </>
  )
}
