// Writes the suite that sends the schema of a listed tool back as it was received; reads a report with all frames.
const fs = require('fs');
const report = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const frames = report.assertions.flatMap((it) => it.evidence.wire).filter((it) => it.sender === 'server');
const lists = frames.map((it) => it.text.replace(/^HTTP \d+: /, '')).filter((it) => it.includes('"inputSchema"'));
const tools = JSON.parse(lists[0]).result.tools;
const schema = tools.find((it) => it.name === 'json_schema_2020_12_tool').inputSchema;
console.log('name: the schema comes back as it was');
console.log(`assert: ${JSON.stringify({ tool: 'json_schema_echo', args: { schema } })}`);
