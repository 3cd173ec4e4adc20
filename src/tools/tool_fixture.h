#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "executor/fake_executor.h"
#include "mcp/fake_call.h"
#include "mcp/tool_registry.h"

namespace glovebox {

// For the tests of tools: one call on an executor whose runs the test ends.
class ToolFixture : public testing::Test {
 protected:
  void Call(mcp::Tool& tool, std::string_view arguments) {
    tool.Call(boost::json::parse(arguments).get_object(), mcp::ToolResponder(call_));
  }
  FakeExecutor::Run& run() { return *executor_.runs.back(); }
  void Finish(Outcome outcome) { run().done(std::move(outcome)); }
  static Outcome Completed() { return FakeExecutor::Ended(ExecutionStatus::kCompleted); }

  const boost::json::object& structured() {
    return call_->replies.back().at("structuredContent").get_object();
  }
  // The text of a result that must be an error for the model; "" when it is not.
  std::string ErrorOf(mcp::Tool& tool, std::string_view arguments) {
    Call(tool, arguments);
    const boost::json::object& reply = call_->replies.back();
    if (!reply.at("isError").get_bool()) return "";
    EXPECT_FALSE(reply.contains("structuredContent"));
    return std::string(reply.at("content").at(0).at("text").get_string());
  }
  // Every key of the last result is in the tool's output schema.
  void ExpectDescribed(const mcp::Tool& tool) {
    const auto& properties = tool.definition().output_schema.at("properties").get_object();
    for (const auto& entry : structured()) {
      EXPECT_TRUE(properties.contains(entry.key())) << std::string(entry.key());
    }
  }
  // The rules by which schemas survive every client.
  static void ExpectPortable(const mcp::ToolDefinition& tool) {
    EXPECT_FALSE(tool.title.empty());
    EXPECT_FALSE(tool.icons.empty());
    EXPECT_LT(tool.description.size(), 2000u);
    for (const boost::json::object* schema : {&tool.input_schema, &tool.output_schema}) {
      EXPECT_EQ(schema->at("type"), "object");
      for (const char* word : {"$ref", "oneOf", "anyOf", "allOf", "not", "if"}) {
        EXPECT_FALSE(schema->contains(word)) << word;
      }
      for (const auto& property : schema->at("properties").get_object()) {
        EXPECT_TRUE(property.value().get_object().contains("description"))
            << std::string(property.key());
      }
    }
    EXPECT_EQ(tool.input_schema.at("additionalProperties"), false);
  }

  boost::asio::io_context context_;  // first: what a run holds may have a timer on it
  FakeExecutor executor_;
  std::shared_ptr<mcp::FakeCall> call_ = std::make_shared<mcp::FakeCall>();
};

}  // namespace glovebox
