// A reporter for node:test that is silent about what passed: failures with their error, then the runner's closing
// lines.
import path from 'node:path'
import { inspect } from 'node:util'

/** Turns the events of a test run into text. */
// oxlint-disable-next-line import/no-default-export -- node:test wants its reporters so
export default async function* quiet(events) {
  const said = new Map() // what each test file printed, shown only when something in it fails
  const shown = new Set()
  const open = [] // names of the tests around the current one, by nesting
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      open.length = data.nesting
      open[data.nesting] = data.name
    } else if (type === 'test:stdout' || type === 'test:stderr') {
      said.set(data.file, (said.get(data.file) ?? '') + data.message)
    } else if (type === 'test:fail' && data.details.error.failureType !== 'subtestsFailed' && data.todo === undefined) {
      const output = shown.has(data.file) ? undefined : said.get(data.file)
      shown.add(data.file)
      yield failure(data, [...open.slice(0, data.nesting), data.name], output)
    } else if (type === 'test:diagnostic' && data.nesting === 0) {
      yield `# ${data.message}\n`
    }
  }
}

function failure({ file, line, details }, names, output) {
  const error = details.error.cause ?? details.error
  const where =
    file === undefined ? '' : `${path.relative(process.cwd(), file)}${line === undefined ? '' : `:${line}`}  `
  const text = typeof error === 'string' ? error : inspect(error, { depth: 6 })
  // A file without a failed test whose process crashed.
  const { signal, exitCode } = details.error
  const ended = signal || exitCode ? `\n    its process ended with ${signal ?? `exit code ${exitCode}`}` : ''
  const printed = output === undefined ? '' : `\n  printed by this file:\n${indent(output.trimEnd())}`
  return `\n✖ ${where}${names.join(' › ')}\n${indent(text)}${ended}${printed}\n\n`
}

function indent(text) {
  return text.replace(/^/gm, '    ')
}
