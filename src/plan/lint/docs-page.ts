/** docs/lint.md, written from the checks themselves: every id is an anchor there. */
import { CHECKS } from './finding.ts'
import type { Severity } from './finding.ts'
import { API_LIVES } from './kubernetes-apis.ts'

const USUALLY: Readonly<Record<Severity, string>> = { error: 'an error', warning: 'a warning', note: 'a note' }

/** The whole page. */
export function lintPage(): string {
  const checks = Object.entries(CHECKS).map(
    ([id, { title, help, severity }]) => `### ${id}\n${title}; usually ${USUALLY[severity]}.\n\n${help}\n`,
  )
  const rows = [...API_LIVES].flatMap(([name, { since, deprecated, removed, instead }]) => {
    const [apiVersion, kind] = name.split(' ')
    const minor = (one: number | undefined) => (one === undefined ? '' : `1.${one}`)
    return `| \`${apiVersion}\` | ${kind} | ${minor(since)} | ${minor(deprecated)} | ${minor(removed)} | ${instead === undefined ? '' : `\`${instead}\``} |`
  })
  return `# What lint finds

This page is written by \`npm run docs\`. [validate.md](validate.md) says how files are checked. Ids are permanent: scripts and
links may rely on them.

## Checks

${checks.join('\n')}
## Kubernetes' API versions

What [removed-api](#removed-api), [future-api](#future-api) and [deprecated-api](#deprecated-api) go by: kinds of Kubernetes up to 1.37 that some
version of it serves no longer, or not yet. Versions that are not here are served by every Kubernetes since 1.16.

| apiVersion | kind | since | deprecated | removed | write instead |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}
