const browsers = [
  { mark: /Edg(e|A|iOS)?\//, name: 'Edge' },
  { mark: /OPR\/|Opera/, name: 'Opera' },
  { mark: /Firefox\/|FxiOS\//, name: 'Firefox' },
  { mark: /Chrome\/|CriOS\//, name: 'Chrome' },
  { mark: /Safari\//, name: 'Safari' },
]

const systems = [
  { mark: /iPhone|iPod/, name: 'iPhone', isPhone: true },
  { mark: /iPad/, name: 'iPad', isPhone: true },
  { mark: /Android/, name: 'Android', isPhone: true },
  { mark: /Windows/, name: 'Windows', isPhone: false },
  { mark: /Mac OS X|Macintosh/, name: 'macOS', isPhone: false },
  { mark: /CrOS/, name: 'ChromeOS', isPhone: false },
  { mark: /Linux/, name: 'Linux', isPhone: false },
]

/** `Chrome on macOS`, as far as the User-Agent says. */
export function deviceOf(userAgent: string | null): { name: string; isPhone: boolean } {
  const browser = browsers.find(({ mark }) => mark.test(userAgent ?? ''))
  const system = systems.find(({ mark }) => mark.test(userAgent ?? ''))
  const name = [browser?.name, system?.name].filter(Boolean).join(' on ')
  return { name: name || 'Unknown device', isPhone: system?.isPhone ?? false }
}
