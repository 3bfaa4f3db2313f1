// The actions on one item of a list, behind three dots; its children are the menu items.
import { ActionIcon, Menu } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { MoreIcon } from './icons.tsx'

type ActionMenuProps = {
  /** The item's name, which alone tells one menu from another for screen readers. */
  readonly name: string
  readonly children: ReactNode
}

export function ActionMenu({ name, children }: ActionMenuProps) {
  const { t } = useTranslation()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('overview.actionsFor', { name })}>
          <MoreIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
