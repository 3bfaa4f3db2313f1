// The icons, from the set made for Mantine, as large as the text beside them. All are decoration: that text, or the
// label of a button, carries the meaning.
import * as tabler from '@tabler/icons-react'

const decoration = (Drawn: tabler.Icon) =>
  function Decoration({ size = 16 }: { readonly size?: number }) {
    return <Drawn size={size} stroke={2.25} aria-hidden="true" />
  }

export type Icon = ReturnType<typeof decoration>

export const KeyIcon = decoration(tabler.IconKey)
export const GroupIcon = decoration(tabler.IconSitemap)
export const GaugeIcon = decoration(tabler.IconGauge)
export const ChartIcon = decoration(tabler.IconChartBar)
export const ListIcon = decoration(tabler.IconList)
export const CubeIcon = decoration(tabler.IconCube)
export const BellIcon = decoration(tabler.IconBell)
export const PeopleIcon = decoration(tabler.IconUsers)
export const ShieldIcon = decoration(tabler.IconShieldCheck)
export const HistoryIcon = decoration(tabler.IconHistory)
export const PlayIcon = decoration(tabler.IconPlayerPlay)
export const StopIcon = decoration(tabler.IconPlayerStop)
export const CodeIcon = decoration(tabler.IconCode)
export const BookIcon = decoration(tabler.IconBook)
export const CheckIcon = decoration(tabler.IconCheck)
export const CrossIcon = decoration(tabler.IconX)
export const PauseIcon = decoration(tabler.IconPlayerPause)
export const ArchiveIcon = decoration(tabler.IconArchive)
export const BanIcon = decoration(tabler.IconBan)
export const ClockIcon = decoration(tabler.IconClock)
export const WarningIcon = decoration(tabler.IconAlertTriangle)
export const InfoIcon = decoration(tabler.IconInfoCircle)
export const RotateIcon = decoration(tabler.IconRefresh)
export const PlusIcon = decoration(tabler.IconPlus)
export const SearchIcon = decoration(tabler.IconSearch)
export const CopyIcon = decoration(tabler.IconCopy)
export const DownloadIcon = decoration(tabler.IconDownload)
export const MoreIcon = decoration(tabler.IconDots)
export const MenuIcon = decoration(tabler.IconMenu2)
export const SunIcon = decoration(tabler.IconSun)
export const MoonIcon = decoration(tabler.IconMoon)
export const GlobeIcon = decoration(tabler.IconWorld)
export const PersonIcon = decoration(tabler.IconUser)
export const ChevronRightIcon = decoration(tabler.IconChevronRight)
export const SortIcon = decoration(tabler.IconSelector)
export const SortUpIcon = decoration(tabler.IconChevronUp)
export const SortDownIcon = decoration(tabler.IconChevronDown)
export const EyeIcon = decoration(tabler.IconEye)
export const ToolIcon = decoration(tabler.IconTool)
export const FileIcon = decoration(tabler.IconFileText)
export const BracesIcon = decoration(tabler.IconBraces)
export const BulbIcon = decoration(tabler.IconBulb)
