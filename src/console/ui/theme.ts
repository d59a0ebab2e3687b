import {
  type CSSVariablesResolver,
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorsTuple,
} from '@mantine/core'

// Every text colour has a contrast of at least 4.5:1 on its background, in light and in dark.

/** Lightest first; buttons are filled with the seventh. */
const accent: MantineColorsTuple = [
  '#f4f4fe',
  '#e9e9fd',
  '#d7d7fb',
  '#b8b8f5',
  '#9b9bef',
  '#7b7be6',
  '#5b5bd6',
  '#4f4fc4',
  '#4343a8',
  '#36368a',
]

const red: MantineColorsTuple = [
  '#feecec',
  '#fcd8da',
  '#fbc0c4',
  '#faa6aa',
  '#ff9592',
  '#e5555b',
  '#ce2c31',
  '#b32329',
  '#981b20',
  '#7c1418',
]

const gray: MantineColorsTuple = [
  '#fafafb',
  '#f4f4f6',
  '#ebebef',
  '#e2e2e7',
  '#cdced6',
  '#9ea0aa',
  '#636670',
  '#50535c',
  '#33353c',
  '#1b1c20',
]

const dark: MantineColorsTuple = [
  '#edeef0',
  '#d3d5da',
  '#a9adb6',
  '#73767f',
  '#3d4047',
  '#2c2e34',
  '#1f2125',
  '#141517',
  '#0f1011',
  '#0a0a0b',
]

export const colorSchemeManager = localStorageColorSchemeManager({ key: 'callbook-color-scheme' })

/** The console's own typefaces, as fonts.css has them; letters that they lack come from the system. */
const ownFont = 'Inter, "Inter fallback", system-ui, sans-serif'
const ownMono = '"JetBrains Mono", "JetBrains Mono fallback", ui-monospace, monospace'

export const theme = createTheme({
  fontFamily: ownFont,
  fontFamilyMonospace: ownMono,
  fontSizes: { xs: '12px', sm: '13px', md: '13px', lg: '15px', xl: '18px' },
  lineHeights: { xs: '1.3334', sm: '1.5385', md: '1.5385', lg: '1.6', xl: '1.5556' },
  headings: {
    fontFamily: ownFont,
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '18px', lineHeight: '28px' },
      h2: { fontSize: '15px', lineHeight: '24px' },
      h3: { fontSize: '13px', lineHeight: '20px' },
    },
  },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  radius: { xs: '4px', sm: '6px', md: '6px', lg: '8px', xl: '12px' },
  defaultRadius: 'sm',
  primaryColor: 'accent',
  primaryShade: 6,
  colors: { accent, red, gray, dark },
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Show password' } } },
    Modal: {
      defaultProps: {
        yOffset: 'var(--cb-modal-offset)',
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: { 'aria-label': 'Close' },
        transitionProps: { duration: 120 },
      },
    },
    Drawer: {
      defaultProps: {
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: { 'aria-label': 'Close' },
        transitionProps: { duration: 120 },
      },
    },
    Menu: {
      defaultProps: {
        transitionProps: { duration: 120 },
        shadow: 'sm',
        // The placeholder element is not allowed inside an ARIA menu.
        withInitialFocusPlaceholder: false,
        // Within a landmark, where screen readers look.
        portalProps: { target: '#content' },
      },
    },
    Popover: { defaultProps: { transitionProps: { duration: 120 }, shadow: 'sm' } },
    TextInput: { defaultProps: { attributes: { input: { dir: 'auto' } } } },
    Textarea: { defaultProps: { attributes: { input: { dir: 'auto' } } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } } },
    Tooltip: { defaultProps: { transitionProps: { duration: 120 } } },
    Select: { defaultProps: { comboboxProps: { shadow: 'sm' }, withCheckIcon: false } },
    Anchor: { defaultProps: { underline: 'hover' } },
  },
})

/** CSS variables that the sheets use; ours begin with `--cb-`. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#1b1c20',
    '--mantine-color-dimmed': '#5f626b',
    '--mantine-color-placeholder': '#6b6e78',
    '--mantine-color-default-border': '#dcdce2',
    '--mantine-color-default-hover': '#f4f4f6',
    '--mantine-color-anchor': '#4f4fc4',
    '--mantine-color-error': '#c62a2f',
    '--cb-surface': '#fafafb',
    '--cb-raised': '#ffffff',
    '--cb-hover': '#f1f1f4',
    '--cb-selected': '#e9e9f0',
    '--cb-border': '#e5e5ea',
    '--cb-accent': '#5b5bd6',
    '--cb-accent-text': '#4f4fc4',
    '--cb-accent-soft': '#eeeefd',
    '--cb-success': '#2b9a66',
    '--cb-success-text': '#18794e',
    '--cb-warning': '#d98207',
    '--cb-warning-text': '#8f4d00',
    '--cb-warning-soft': '#fff3dc',
    '--cb-danger': '#dc3d43',
    '--cb-danger-text': '#bd2329',
    '--cb-danger-soft': '#feecec',
    '--cb-neutral': '#9ea0aa',
    '--cb-neutral-soft': '#efeff2',
    '--cb-chart': '#9094a0',
    '--cb-chart-faint': '#cdced6',
    '--cb-mark': '#ffe9a8',
  },
  dark: {
    '--mantine-color-body': '#111214',
    '--mantine-color-text': '#edeef0',
    '--mantine-color-dimmed': '#a3a7b0',
    '--mantine-color-placeholder': '#8b8f99',
    '--mantine-color-default': '#17181b',
    '--mantine-color-default-border': '#303238',
    '--mantine-color-default-hover': '#202226',
    '--mantine-color-anchor': '#b1a9ff',
    '--mantine-color-error': '#ff9592',
    '--cb-surface': '#0c0d0e',
    '--cb-raised': '#17181b',
    '--cb-hover': '#1c1d21',
    '--cb-selected': '#26282d',
    '--cb-border': '#26282d',
    '--cb-accent': '#7b7be6',
    '--cb-accent-text': '#b1a9ff',
    '--cb-accent-soft': '#22224a',
    '--cb-success': '#33b074',
    '--cb-success-text': '#4ccc93',
    '--cb-warning': '#f1a10d',
    '--cb-warning-text': '#f5b64c',
    '--cb-warning-soft': '#34230a',
    '--cb-danger': '#f2555a',
    '--cb-danger-text': '#ff9592',
    '--cb-danger-soft': '#3b1518',
    '--cb-neutral': '#6c707a',
    '--cb-neutral-soft': '#24262b',
    '--cb-chart': '#8b8f99',
    '--cb-chart-faint': '#44474f',
    '--cb-mark': '#5c4503',
  },
})
