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
  return `# Lint checks

This page lists the checks of \`flotilla validate\` and of the condition \`Linted\` of a Bundle. Each finding has one of these ids in
brackets. Ids are permanent, so scripts and links may rely on them. See [validate](validate.md) for how to run the checks.
\`npm run docs\` writes this page.

## Checks

${checks.join('\n')}
## Kubernetes' API versions

The checks [removed-api](#removed-api), [future-api](#future-api) and [deprecated-api](#deprecated-api) use this table. It lists
API versions of Kubernetes up to 1.37 that some version of Kubernetes no longer serves, or does not serve yet. API versions
that are not in the table are served by every Kubernetes since 1.16.

| apiVersion | kind | since | deprecated | removed | write instead |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}
