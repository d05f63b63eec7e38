//! What clients and model APIs are known to drop, change or refuse. Each row has a public source in which that was seen, and
//! when; a row without one is not taken.

use super::{
    CHANGED, CUT, Construct, DROPPED_LIST, DROPPED_TOOL, Fact, REFUSED_CALL, REFUSED_REQUEST,
    WARNED, schema::InSchema, server::OfServer, tool::OfTool,
};

const ANY: usize = usize::MAX;

/// Makes the rows: code, host, what is in the lists, what the host does, the source, and when it was seen.
macro_rules! facts {
    ($($code:literal $host:literal $part:ident($what:expr) => $effect:ident, $source:literal $seen:literal;)+) => {
        /// The rows, by host.
        pub(crate) const FACTS: &[Fact] = &[$(Fact {
            code: $code,
            host: $host,
            construct: Construct::$part($what),
            effect: $effect,
            source: $source,
            seen: $seen,
        }),+];
    };
}

facts! {
    "H101" "claude-api" Tool(OfTool::Root(&["anyOf", "oneOf", "allOf"])) => REFUSED_REQUEST, "makenotion/notion-mcp-server#341" "2026-08";
    "H102" "claude-api" Input(InSchema::Key("_.-", 64)) => REFUSED_REQUEST, "anthropics/claude-code#34771" "2026-03";
    "H103" "claude-api" Tool(OfTool::NotValid) => REFUSED_REQUEST, "kintone/mcp-server#553" "2026-08";
    "H104" "claude-api" Tool(OfTool::Name("_-", 128)) => REFUSED_REQUEST, "github/copilot-cli#1879" "2026-03";
    "H111" "claude-code" Tool(OfTool::Root(&["anyOf", "oneOf", "allOf", "if"])) => DROPPED_TOOL, "anthropics/claude-code#95504" "2026-09";
    "H112" "claude-code" Tool(OfTool::RootType) => DROPPED_LIST, "anthropics/claude-code#88049" "2026-08";
    "H113" "claude-code" Any(InSchema::ArrayForObject) => DROPPED_LIST, "elementor/elementor#37327" "2026-09";
    "H114" "claude-code" Tool(OfTool::DescriptionOver(2_048)) => CUT, "anthropics/claude-code#41593" "2026-03";
    "H115" "claude-code" Server(OfServer::Instructions(2_048)) => CUT, "RedHatInsights/insights-mcp#340" "2026-04";
    "H116" "claude-code" Server(OfServer::Tokens(25_000)) => WARNED, "anthropics/claude-code#12241" "2025-11";
    "H121" "claude-desktop" Tool(OfTool::Dialect) => REFUSED_CALL, "ankimcp/anki-mcp-server-addon#69" "2026-08";
    "H131" "openai-api" Tool(OfTool::Name("_-", ANY)) => REFUSED_REQUEST, "openai/codex#8174" "2025-12";
    "H132" "openai-api" Tool(OfTool::NameOver(64)) => REFUSED_REQUEST, "mastra-ai/mastra#6302" "2025-07";
    "H133" "openai-api" Tool(OfTool::NoProperties) => REFUSED_REQUEST, "openai/openai-agents-python#454" "2025-04";
    "H134" "openai-api" Any(InSchema::ArrayForObject) => REFUSED_REQUEST, "shopware/shopware#18713" "2026-07";
    "H135" "openai-api" Tool(OfTool::DescriptionOver(1_024)) => REFUSED_REQUEST, "getsentry/sentry-mcp#106" "2025-04";
    "H136" "openai-api" Tool(OfTool::Root(&["anyOf", "oneOf", "allOf"])) => REFUSED_REQUEST, "makenotion/notion-mcp-server#340" "2026-08";
    "H137" "openai-strict" Input(InSchema::Open) => REFUSED_REQUEST, "lastmile-ai/openai-agents-mcp#2" "2025-03";
    "H138" "openai-strict" Input(InSchema::FormatOther(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"])) => REFUSED_REQUEST, "posit-dev/chatlas#255" "2026-01";
    "H141" "gemini-api" Input(InSchema::Keywords(&["exclusiveMinimum", "exclusiveMaximum"])) => REFUSED_REQUEST, "hideya/langchain-mcp-tools-ts#36" "2025-06";
    "H142" "gemini-api" Input(InSchema::Keywords(&["additionalProperties"])) => REFUSED_REQUEST, "promptfoo/promptfoo#6902" "2026-01";
    "H143" "gemini-api" Input(InSchema::Keywords(&["patternProperties"])) => REFUSED_REQUEST, "Wei-Shaw/sub2api#795" "2026-03";
    "H144" "gemini-api" Input(InSchema::RefBeside) => REFUSED_REQUEST, "anomalyco/opencode#12295" "2026-02";
    "H145" "gemini-api" Input(InSchema::EnumNotText) => REFUSED_REQUEST, "docker/docker-agent#3485" "2026-07";
    "H146" "gemini-api" Input(InSchema::FormatOther(&["enum", "date-time"])) => REFUSED_REQUEST, "hideya/langchain-mcp-tools-ts#36" "2025-06";
    "H147" "gemini-api" Input(InSchema::TypeList) => REFUSED_REQUEST, "taylorwilsdon/google_workspace_mcp#1099" "2026-09";
    "H148" "gemini-api" Input(InSchema::Keywords(&["const"])) => REFUSED_REQUEST, "taylorwilsdon/google_workspace_mcp#1099" "2026-09";
    "H151" "gemini-cli" Tool(OfTool::Name("_-.:", 63)) => CHANGED, "google-gemini/gemini-cli#20987" "2026-03";
    "H161" "vscode-copilot" Input(InSchema::NoItems) => DROPPED_TOOL, "microsoft/vscode#246119" "2025-04";
    "H162" "vscode-copilot" Server(OfServer::Tools(128)) => REFUSED_REQUEST, "microsoft/vscode-copilot-release#9375" "2025-05";
    "H163" "vscode-copilot" Tool(OfTool::NameOver(64)) => REFUSED_REQUEST, "microsoft/vscode#243602" "2025-03";
    // The limit of 60 holds for the server's name in the settings, a separator and the tool's name.
    "H171" "cursor" Tool(OfTool::NameOver(58)) => DROPPED_TOOL, "ComposioHQ/composio#2788" "2026-02";
    "H172" "cursor" Server(OfServer::Tools(80)) => WARNED, "Snowflake-Labs/mcp#77" "2025-09";
    "H181" "windsurf" Server(OfServer::Tools(49)) => DROPPED_LIST, "Zhwt/go-mcp-mysql#3" "2025-04";
    "H182" "antigravity" Server(OfServer::Tools(100)) => DROPPED_LIST, "margince/margince#940" "2026-08";
    "H191" "bedrock" Tool(OfTool::Name("_-", 64)) => REFUSED_REQUEST, "awslabs/mcp#3181" "2026-04";
    "H192" "bedrock" Tool(OfTool::Root(&["anyOf", "oneOf", "allOf"])) => REFUSED_REQUEST, "zereight/gitlab-mcp#550" "2026-06";
    "H201" "codex" Input(InSchema::Union) => CHANGED, "openai/codex#13768" "2026-03";
    "H202" "codex" Input(InSchema::Untyped) => REFUSED_REQUEST, "Gitlawb/openclaude#1114" "2026-05";
    "H211" "grok-api" Input(InSchema::TupleItems) => REFUSED_REQUEST, "NousResearch/hermes-agent#20976" "2026-05";
    "H221" "llama.cpp" Input(InSchema::Unanchored) => REFUSED_REQUEST, "containers/kubernetes-mcp-server#758" "2026-02";
    "H222" "llama.cpp" Input(InSchema::LookAround) => REFUSED_REQUEST, "codefuturist/email-mcp#58" "2026-07";
    "H223" "llama.cpp" Input(InSchema::Shorthand) => REFUSED_REQUEST, "rowboatlabs/rowboat#740" "2026-07";
    "H224" "llama.cpp" Input(InSchema::MaxLengthOver(9_999)) => REFUSED_REQUEST, "firecrawl/firecrawl#4512" "2026-09";
    "H231" "mistral-api" Input(InSchema::BooleanBound) => REFUSED_REQUEST, "SylphxAI/pdf-reader-mcp#63" "2025-05";
    "H232" "mistral-api" Input(InSchema::Keywords(&["$id", "$schema"])) => REFUSED_REQUEST, "BerriAI/litellm#13389" "2025-08";
    "H241" "typescript-sdk" Tool(OfTool::OutputType) => DROPPED_LIST, "opentokenz/mcpx#28" "2026-09";
    "H242" "typescript-sdk" Any(InSchema::ArrayForObject) => DROPPED_LIST, "use-novamira/novamira#82" "2026-08";
    "H251" "lm-studio" Tool(OfTool::NoProperties) => REFUSED_REQUEST, "unclecode/crawl4ai#2207" "2026-08";
}
