/** Keeps texts in this browser, or in this tab alone. Where the browser blocks storage or it is full, nothing is kept. */
export const [inBrowser, inTab] = [storeOf(() => localStorage), storeOf(() => sessionStorage)]

function storeOf(storage: () => Storage) {
  const attempt = <Result>(work: (of: Storage) => Result): Result | null => {
    try {
      return work(storage())
    } catch {
      // The page does without.
      return null
    }
  }
  return {
    read: (key: string) => attempt((of) => of.getItem(key)),
    readJson: (key: string): unknown => attempt((of) => JSON.parse(of.getItem(key) ?? 'null')),
    save: (key: string, text: string) => attempt((of) => of.setItem(key, text)),
    drop: (key: string) => attempt((of) => of.removeItem(key)),
    keys: () => attempt((of) => Object.keys(of)) ?? [],
  }
}
