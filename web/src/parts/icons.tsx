// The icons, from the set made for Mantine, as large as the text beside them. All are decoration: that text, or the
// label of a button, carries the meaning.
import {
  type Icon as Drawing,
  IconAlertTriangle,
  IconBan,
  IconBell,
  IconBook,
  IconChartBar,
  IconCheck,
  IconChevronDown,
  IconChevronRight,
  IconChevronUp,
  IconClock,
  IconCopy,
  IconCube,
  IconDots,
  IconDownload,
  IconEye,
  IconGauge,
  IconHistory,
  IconInfoCircle,
  IconKey,
  IconList,
  IconMenu2,
  IconMoon,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconRefresh,
  IconSearch,
  IconSelector,
  IconShieldCheck,
  IconSun,
  IconUser,
  IconUsers,
  IconWorld,
  IconX,
} from '@tabler/icons-react'

const decoration = (Drawn: Drawing) =>
  function Decoration({ size = 16 }: { readonly size?: number }) {
    return <Drawn size={size} stroke={2.25} aria-hidden="true" />
  }

export type Icon = ReturnType<typeof decoration>

export const KeyIcon = decoration(IconKey)
export const GaugeIcon = decoration(IconGauge)
export const ChartIcon = decoration(IconChartBar)
export const ListIcon = decoration(IconList)
export const CubeIcon = decoration(IconCube)
export const BellIcon = decoration(IconBell)
export const PeopleIcon = decoration(IconUsers)
export const ShieldIcon = decoration(IconShieldCheck)
export const HistoryIcon = decoration(IconHistory)
export const PlayIcon = decoration(IconPlayerPlay)
export const BookIcon = decoration(IconBook)
export const CheckIcon = decoration(IconCheck)
export const CrossIcon = decoration(IconX)
export const PauseIcon = decoration(IconPlayerPause)
export const BanIcon = decoration(IconBan)
export const ClockIcon = decoration(IconClock)
export const WarningIcon = decoration(IconAlertTriangle)
export const InfoIcon = decoration(IconInfoCircle)
export const RotateIcon = decoration(IconRefresh)
export const PlusIcon = decoration(IconPlus)
export const SearchIcon = decoration(IconSearch)
export const CopyIcon = decoration(IconCopy)
export const DownloadIcon = decoration(IconDownload)
export const MoreIcon = decoration(IconDots)
export const MenuIcon = decoration(IconMenu2)
export const SunIcon = decoration(IconSun)
export const MoonIcon = decoration(IconMoon)
export const GlobeIcon = decoration(IconWorld)
export const PersonIcon = decoration(IconUser)
export const ChevronRightIcon = decoration(IconChevronRight)
export const SortIcon = decoration(IconSelector)
export const SortUpIcon = decoration(IconChevronUp)
export const SortDownIcon = decoration(IconChevronDown)
export const EyeIcon = decoration(IconEye)
