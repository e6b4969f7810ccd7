/** Which agents are too old: the root says the least version in the trust bundle, and neither side goes below it. */

/** Whether a version comes before another; what is not `MAJOR.MINOR.PATCH` comes before everything. */
export function isOlderVersion(version: string, least: string): boolean {
  const [mine, theirs] = [numbersOf(version), numbersOf(least)]
  if (!theirs) return false
  if (!mine) return true
  for (const [index, number] of mine.numbers.entries()) {
    const other = theirs.numbers[index]!
    if (number !== other) return number < other
  }
  // A pre-release comes before its release; two pre-releases count as equal.
  return mine.isPreRelease && !theirs.isPreRelease
}

/** What an agent that is too old is told. */
export function tooOldMessage(version: string, least: string): string {
  return `this agent is version ${version}, the hub asks for ${least} or newer; upgrade the agent`
}

function numbersOf(text: string): { readonly numbers: readonly number[]; readonly isPreRelease: boolean } | undefined {
  const match = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.exec(text)
  if (!match) return undefined
  return { numbers: match.slice(1, 4).map(Number), isPreRelease: match[4] !== undefined }
}
