// Tested by src/cli/commands/preview/validate.test.ts.
/** Findings as text, JSON, markdown, SARIF, or annotations of a GitHub workflow. */
import { compact } from '../../core/compact.ts'
import { plural } from '../../core/text/name-some.ts'
import { CHECKS } from '../../plan/lint/finding.ts'
import type { CheckId, Severity } from '../../plan/lint/finding.ts'
import { DOCUMENTATION, VERSION } from '../../core/version.ts'
import type { PlacedFinding } from './read-definitions.ts'
import type { LintReport } from './lint-files.ts'

const LINT_FORMATS = ['text', 'json', 'markdown', 'sarif', 'github'] as const

export type LintFormat = (typeof LINT_FORMATS)[number]

const DOCS = `${DOCUMENTATION}/lint.md`

/** Prints a report. */
export function printLint(report: LintReport, format: LintFormat): string {
  switch (format) {
    case 'text':
      return text(report)
    case 'json':
      return `${JSON.stringify(asJson(report), undefined, 2)}\n`
    case 'markdown':
      return markdown(report)
    case 'sarif':
      return `${JSON.stringify(sarif(report), undefined, 2)}\n`
    case 'github':
      return report.findings.map(annotation).join('')
  }
}

/** `2 errors, 1 warning, 3 notes; 4 objects, 2 bundles (14 objects rendered), 60 clusters checked`. */
export function summary({ findings, checked }: LintReport): string {
  const number = (wanted: Severity) => findings.filter(({ severity }) => severity === wanted).length
  const parts = (['error', 'warning', 'note'] as const).flatMap((one) => {
    const count = number(one)
    return count === 0 ? [] : [plural(count, one)]
  })
  const { objects, bundles, clusters, contents } = checked
  const looked = [
    ...(objects === 0 ? [] : [plural(objects, 'definition')]),
    ...(bundles === 0 ? [] : [plural(bundles, 'bundle')]),
    plural(contents, 'object'),
    ...(clusters === 0 ? ['no cluster known'] : [`for ${plural(clusters, 'cluster')}`]),
  ]
  return `${parts.length === 0 ? 'no findings' : parts.join(', ')}; checked ${looked.join(', ')}`
}

function text(report: LintReport): string {
  const lines = report.findings.map((one) => `${whereOf(one)}${one.severity}: ${sentence(one)} [${one.check}]`)
  const checks = [...new Set(report.findings.map(({ check }) => check))]
  const help =
    checks.length === 0 ? [] : [`see ${DOCS}#${checks[0]}${checks.length > 1 ? ' and the other sections' : ''}`]
  return `${[...lines, summary(report), ...help].join('\n')}\n`
}

function whereOf({ file, line, column }: PlacedFinding): string {
  return file === undefined ? '' : `${file}:${line ?? 1}:${column ?? 1}: `
}

function sentence({ message, todo }: PlacedFinding): string {
  return todo === undefined ? message : `${message}; ${todo}`
}

function asJson({ findings, checked }: LintReport): unknown {
  return {
    checked,
    findings: findings.map(({ place, ...one }) => ({
      ...one,
      ...compact({ field: place === undefined ? undefined : place.join('.') }),
      docs: `${DOCS}#${one.check}`,
    })),
  }
}

function markdown(report: LintReport): string {
  const { findings } = report
  const title = `### flotilla validate: ${summary(report)}\n`
  if (findings.length === 0) return title
  const rows = findings.map(
    (one) =>
      `| ${one.severity} | ${code(one.file === undefined ? '' : `${one.file}:${one.line ?? 1}`)} | ${cell(sentence(one))} | \`${one.check}\` |`,
  )
  return `${[title, '| | where | what | check |', '|---|---|---|---|', ...rows].join('\n')}\n`
}

function cell(words: string): string {
  return words.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '&lt;').replace(/\s+/g, ' ')
}

function code(words: string): string {
  return words === '' ? '' : `\`${words.replaceAll('`', "'").replaceAll('|', '\\|')}\``
}

const LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', note: 'note' }

function sarif({ findings }: LintReport): unknown {
  const used = [...new Set(findings.map(({ check }) => check))].sort()
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'flotilla', version: VERSION, rules: used.map(ruleOf) } },
        results: findings.map((one) =>
          compact({
            ruleId: one.check,
            ruleIndex: used.indexOf(one.check),
            level: LEVELS[one.severity],
            message: { text: sentence(one) },
            locations:
              one.file === undefined
                ? undefined
                : [
                    {
                      physicalLocation: {
                        artifactLocation: { uri: one.file.split('/').map(encodeURIComponent).join('/') },
                        region: { startLine: one.line ?? 1, startColumn: one.column ?? 1 },
                      },
                    },
                  ],
          }),
        ),
      },
    ],
  }
}

function ruleOf(id: CheckId): unknown {
  const { title, help, severity } = CHECKS[id]
  return {
    id,
    shortDescription: { text: title },
    help: { text: help },
    defaultConfiguration: { level: LEVELS[severity] },
  }
}

const COMMANDS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', note: 'notice' }

function annotation(one: PlacedFinding): string {
  const properties = [
    ...(one.file === undefined
      ? []
      : [`file=${property(one.file)}`, `line=${one.line ?? 1}`, `col=${one.column ?? 1}`]),
    `title=${property(one.check)}`,
  ]
  return `::${COMMANDS[one.severity]} ${properties.join(',')}::${escaped(sentence(one))}\n`
}

// Characters with a meaning in workflow commands.
function escaped(words: string): string {
  return words.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(words: string): string {
  return escaped(words).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
