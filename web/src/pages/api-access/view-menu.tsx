// The visible columns of the list and the density of its rows.
import { Button, Menu } from '@mantine/core'
import { useTranslation } from '../../i18n/use-translation.ts'
import { columnsOf, OPTIONAL_COLUMNS } from './overview-search.ts'
import type { OverviewSearch } from './overview-search.ts'

type ViewMenuProps = {
  readonly search: OverviewSearch
  readonly onChange: (change: Partial<OverviewSearch>) => void
}

export function ViewMenu({ search, onChange }: ViewMenuProps) {
  const { t } = useTranslation()
  const shown = columnsOf(search)
  return (
    <Menu closeOnItemClick={false} position="bottom-start">
      <Menu.Target>
        <Button variant="default">{t('overview.view')}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('overview.columns')}</Menu.Label>
        {OPTIONAL_COLUMNS.map((column) => (
          <Menu.CheckboxItem
            key={column}
            checked={shown.includes(column)}
            onChange={(isChecked) =>
              onChange({
                columns: OPTIONAL_COLUMNS.filter((each) =>
                  each === column ? isChecked : shown.includes(each),
                ),
              })
            }
          >
            {t(`column.${column}`)}
          </Menu.CheckboxItem>
        ))}
        <Menu.Divider />
        <Menu.CheckboxItem
          checked={search.dense === true}
          onChange={(isChecked) => onChange({ dense: isChecked ? true : undefined })}
        >
          {t('overview.dense')}
        </Menu.CheckboxItem>
      </Menu.Dropdown>
    </Menu>
  )
}
