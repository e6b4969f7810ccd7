const VERSION = /-v?\d+(\.\d+)*([-+].*)?$/

/** A name made of an address: its last part, without what says what it is or which version. */
export function nameFromUrl(address: string): string {
  const last =
    address
      .replace(/[?#].*$/, '')
      .split(/[/:]/)
      .findLast((part) => part !== '') ?? ''
  const bare = last.replace(/\.git$/, '').replace(/\.(tgz|tar\.gz)$/, '')
  const word = (bare === last ? bare : bare.replace(VERSION, '')).toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return word.slice(0, 53).replace(/^-+|-+$/g, '')
}
